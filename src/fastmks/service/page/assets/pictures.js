// Two pictures of a search: the objects on a map, and the cover tree as an icicle.

import { colour } from "./drawings.js";

const MARGIN = 0.06;
const SCALE = 1000; // places are from 0 to this

function prepare(canvas) {
  const { width, height } = canvas.getBoundingClientRect();
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return { context, width, height };
}

/** Draw the points: faint where pruned, coloured where evaluated; hits ringed, the query a cross. */
export function drawMap(canvas, points, marks) {
  const { context, width, height } = prepare(canvas);
  const at = ([x, y]) => [
    width * (MARGIN + ((1 - 2 * MARGIN) * x) / SCALE),
    height * (1 - MARGIN - ((1 - 2 * MARGIN) * y) / SCALE),
  ];
  const size = points.length > 1500 ? 1.3 : points.length > 300 ? 1.8 : 2.6;
  for (const [mark, name, radius] of [["0", "pruned", size], ["1", "evaluated", size + 0.5]]) {
    context.fillStyle = colour(name);
    points.forEach((point, i) => {
      if (marks.evaluated[i] !== mark) return;
      const [x, y] = at(point);
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.fill();
    });
  }
  context.strokeStyle = colour("hit");
  context.lineWidth = 1.75;
  for (const point of marks.hits) {
    const [x, y] = at(point);
    context.beginPath();
    context.arc(x, y, 4.5, 0, 7);
    context.stroke();
  }
  cross(context, at(marks.query));
}

function cross(context, [x, y]) {
  context.strokeStyle = colour("ink");
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x - 8, y);
  context.lineTo(x + 8, y);
  context.moveTo(x, y - 8);
  context.lineTo(x, y + 8);
  context.stroke();
}

/** Draw the tree: across, the objects in its order; down, its levels; at the foot, the objects. */
export function drawTree(canvas, tree, shares) {
  const { context, width, height } = prepare(canvas);
  const foot = 14;
  const row = (height - foot - 4) / tree.levels.length;
  const across = width / tree.n_objects;
  const faint = colour("pruned");
  const strong = colour("evaluated");
  const fill = (x, y, w, h, share) => {
    context.globalAlpha = 1;
    context.fillStyle = faint;
    context.fillRect(x, y, w, h);
    if (share === 0) return;
    context.globalAlpha = 0.15 + 0.85 * Math.sqrt(share / 100);
    context.fillStyle = strong;
    context.fillRect(x, y, w, h);
  };
  tree.nodes.forEach(([begin, end, from, until], i) => {
    const wide = (end - begin) * across;
    const space = wide > 3 ? 1 : 0;
    fill(begin * across, from * row, wide - space, (until - from) * row - 1, shares.nodes[i]);
  });
  const stripe = width / shares.stripes.length;
  shares.stripes.forEach((share, i) => {
    fill(i * stripe, height - foot, Math.ceil(stripe), foot, share);
  });
  context.globalAlpha = 1;
}

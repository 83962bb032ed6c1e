// Search without a server: browsers start no worker for a page that was opened from the disk.
// There the search runs in an empty frame of the page instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      this.listeners = [];
      inside.addEventListener = (type, listener) => {
        if (type === "message") this.listeners.push(listener);
      };
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      const script = inside.document.createElement("script");
      this.ready = new Promise((loaded) => script.addEventListener("load", loaded));
      script.src = url;
      inside.document.body.append(script);
    }

    postMessage(data) {
      this.ready.then(() => this.listeners.forEach((listener) => listener({ data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}

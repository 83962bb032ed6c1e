"""Objects of files, as a whole and in chunks."""

from fastmks.inputs import open_objects


def read(path, **options):
    with open_objects(path, **options) as file:
        return file.read()


def in_chunks(path, **options):
    with open_objects(path, **options) as file:
        return list(file)

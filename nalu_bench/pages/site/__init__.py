"""One folder for any static host: claims, pages, article, notebooks and API, with whatever they link to."""

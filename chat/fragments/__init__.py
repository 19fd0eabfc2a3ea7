"""HTML of conversations: the same partials serve a page load, a live frame and a browser that catches up."""

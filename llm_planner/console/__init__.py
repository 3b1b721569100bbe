"""The console: a page in the browser that shows a robot that obeys words, and takes commands, corrections and stops."""

"""Small tools that know nothing of kernels: checks of arguments, words, locks, progress."""

"""An index as a service over HTTP."""

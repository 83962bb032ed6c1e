"""Programs that measure fastmks beside its peers. They are run by hand, never by the tests."""

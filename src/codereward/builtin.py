"""Hook implementations of the components that ship with codereward."""

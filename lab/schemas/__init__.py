"""JSON Schemas and the data dictionary, made from the types of the code and the texts beside or below their fields."""

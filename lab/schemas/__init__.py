"""JSON Schemas and the data dictionary, made from the types of the code and the strings below their fields."""

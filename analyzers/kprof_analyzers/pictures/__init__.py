"""Pictures of structure as SVG and dot, drawn without any other program."""

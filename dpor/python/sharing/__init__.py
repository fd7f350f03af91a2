"""Which objects several threads can reach, and their locations and names.

shared_objects, sharing_state   publishing, and what the present run knows of it
shared_object, fields      the locations of one object; helpers for attributes
children, type_traits, code_of_types   what an object leads to; what is known of its type
always_shared, host_fields   what all runs share; what programs store in modules and classes of the host
deaths, census             objects that die, and the references to them
identity, orders, subclasses   answers that depend on addresses or on what exists: `id`, sets, `__subclasses__`
"""

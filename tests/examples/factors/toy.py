"""``toy``: a factor that changes nothing. An entry for FACTORS."""

from typing import Literal

from lab.design.factors import Factor, Plot

TOY = Factor(
    name="toy",  # the key in [factors] of a sweep, and the column of every table
    description="A toy.",  # for the reference
    level=Literal["plain", "fancy", "mad"],  # what a sweep may say
    default=("plain",),  # the levels where a sweep does not say
    baseline="plain",  # what the others are compared with
    label="Toy",  # as a person writes it
    plot=Plot.SUB_SUB,  # what a change of it costs: here, serving the share anew
)

"""The schema of the loads of simulated drives: motor, wheel, hands, a column between them, and its strain gauges."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from rig_configs.names import Word
from rig_configs.numbers import NonNegative, NonNegativeS, Positive, Real
from rig_configs.section import Section

PlantDeg = Annotated[Real, Field(ge=-1e7, le=1e7)]  # 28 000 turns
Hands = Literal["prescribed", "spring", "free"]
GaugeChannel = Annotated[str, Field(pattern=r"^[0-9]$")]


class Gauge(Section):
    """A strain gauge of an emulated column at an input of an analogue terminal."""

    drive: Annotated[Word, Field(examples=["wheel"])]
    """The gauge is on the column of this drive."""
    gauge: Literal["twist", "bow"]
    """The input measures this gauge of the column."""
    volts_per_strain: Annotated[Positive, Field(examples=[1e4])]
    """The amplifier gives this voltage for a strain of 1."""
    noise_volts: Annotated[NonNegative, Field(le=10.0, examples=[2e-4])] = 0.0
    """The amplifier adds white noise with this standard deviation, which is the same in every run. From half a step
    of the converter upwards, the rounding of the converter is white too."""


class Column(Section):
    """A column that twists and bends between the motor of a simulated drive and the wheel. The plant's inertia is
    then that of the motor alone, and its hands hold the wheel."""

    wheel_kg_m2: Annotated[Positive, Field(examples=[0.04])]
    """The wheel has this inertia about the column."""
    shaft_kg_m2: Positive = 1e-4
    """The shaft has this inertia about itself."""
    stiffness_nm_rad: Annotated[Positive, Field(examples=[400.0])]
    """The whole column twists by a radian under this torque."""
    damping_nms: NonNegative = 0.0
    """The twist is damped by this torque for each rad/s."""
    bending_hz: Annotated[Positive, Field(examples=[20.0])]
    """The wheel swings on the bending column with this frequency."""
    bending_ratio: NonNegative = 0.01
    """This share of the critical damping acts on the bending."""
    wheel_kg: Annotated[Positive, Field(examples=[2.0])]
    """This mass swings on the bending column."""
    side_n: Real = 0.0
    """The hands rest on the wheel with this vertical force."""
    twist_per_nm: NonNegative = 0.0
    """The gauge `twist` has this shear strain for each Nm in the column."""
    bow_per_m: Real = 0.0
    """The gauge `bow` has this strain for each metre of sideways deflection of the wheel."""


class Plant(Section):
    """The load of a simulated drive: motor, wheel, and the driver's hands."""

    inertia_kg_m2: Positive
    """Motor and wheel have this inertia."""
    viscous_nms: NonNegative
    """The bearings brake with this torque for each rad/s."""
    coulomb_nm: NonNegative
    """The bearings brake with this torque however slowly the wheel turns."""
    torque_lag_s: NonNegativeS = 0.0005
    """The torque follows its command with this time constant."""
    hands: Hands = "spring"
    """The hands move the wheel along a sine whatever the torque is (`prescribed`), hold it by a spring that follows
    the sine (`spring`), or are absent (`free`)."""
    hands_stiffness_nm_rad: NonNegative = 20.0
    """The spring of the hands has this stiffness."""
    hands_damping_nms: NonNegative = 1.0
    """The hands brake with this torque for each rad/s relative to their sine."""
    amplitude_deg: PlantDeg = 60.0
    """The sine of the hands has this amplitude."""
    frequency_hz: NonNegative = 0.3
    """The sine of the hands has this frequency."""
    offset_deg: PlantDeg = 0.0
    """The sine of the hands swings about this angle."""
    start_s: NonNegativeS = 1.0
    """The hands rest until this time."""
    column: Column | None = None
    """A column between motor and wheel twists and bends; without this table motor and wheel are one body."""

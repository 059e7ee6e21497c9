import { z } from 'zod'

/** Any JSON. Bodies come from a JSON parser, so what it holds is not walked through: that took longer than a step does. */
export const jsonValue = z.unknown().refine((value): value is z.core.util.JSONType => value !== undefined)

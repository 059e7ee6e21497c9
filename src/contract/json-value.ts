import { z } from 'zod'

/** Any JSON. Bodies come from a JSON parser, so their content is not traversed, which would take longer than one step. */
export const jsonValue = z.unknown().refine((value): value is z.core.util.JSONType => value !== undefined)

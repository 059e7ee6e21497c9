/** The switch that each tool of the service has in the operator's file. */
import { z } from 'zod'

export const enabled = (description: string) => z.boolean().default(true).meta({ description })

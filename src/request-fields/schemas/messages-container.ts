/** The container in which the provider runs code: a new one with its own skills (docs/contract/messages.md#request). */
import { z } from 'zod'

const OF_ACCOUNT = 'Must not name a container or a skill by its id: those belong to the account at the provider, and not only to you.'

export const container = z
  .looseObject(
    {
      id: z.null(OF_ACCOUNT).optional(),
      skills: z.array(z.looseObject({ type: z.literal('anthropic', OF_ACCOUNT), skill_id: z.string().min(1) })).nullish(),
    },
    OF_ACCOUNT,
  )
  .meta({ id: 'Container', description: 'A new container with skills of the provider’s own.' })

/** Searches for a text that a person pastes or types: an id, a name, the last four characters of a key. */
import { z } from 'zod'

import { scopeOf } from '../../canonical/reach.ts'
import { validate } from '../../contract/validate.ts'
import { inWorkspace } from '../../contract/in-workspace.ts'
import type { Models } from '../../models/models.ts'
import type { SearchStore } from '../../storage/generations/search-store.ts'
import { jsonResponse } from '../response/json-response.ts'
import type { PacedReads } from '../paced-reads.ts'
import { reachOf, type Route } from '../route.ts'

const HITS_MAX = 8

const query = { q: z.string().trim().min(1).max(200).meta({ description: 'An id, or a piece of a name.' }) }

const hit = z.object({
  type: z.enum(['generation', 'request', 'preset', 'key', 'model', 'member']),
  id: z.string().meta({ description: 'The slug of a preset, the hash of a key, the user id of a member, or the id of any other hit.' }),
  title: z.string(),
})

export interface SearchRouteParts {
  readonly searching: SearchStore
  readonly models: Pick<Models, 'list'>
  readonly reads: PacedReads
  /** Resolves when everything that was answered before is written. */
  readonly generations: { readonly flush: () => Promise<void> }
}

export const searchRoute = (parts: SearchRouteParts): Route => ({
  method: 'GET',
  path: '/search',
  operation: 'search',
  summary: 'Find a generation, a request, a preset, a key, a model or a member by its id or a piece of its name',
  tag: 'Generations',
  policy: 'own',
  surface: 'management',
  query: { ...query, ...inWorkspace },
  answers: { 200: { description: `At most ${HITS_MAX}.`, schema: z.object({ data: z.array(hit).max(HITS_MAX) }) } },
  errors: [400, 404, 503],
  async handle(request) {
    const { q } = validate(z.object(query), { q: request.query.get('q') ?? undefined })
    const reach = reachOf(request)
    await parts.generations.flush()
    const scope = { workspaceId: scopeOf(reach), ownedBy: reach.onlyUserId }
    const found = await parts.reads.run(request, 'search', () => parts.searching.find(q, scope, HITS_MAX))
    const wanted = q.toLowerCase()
    const models = parts.models
      .list()
      .filter(({ id, name, listed }) => listed !== false && (id.toLowerCase().includes(wanted) || name.toLowerCase().includes(wanted)))
      .map(({ id, name }) => ({ type: 'model' as const, id, title: name }))
    return jsonResponse({ data: mixed([...found, ...models]) })
  },
})

/** If there is not room for all, takes some of each kind, so that a kind with many hits does not hide the others. */
const mixed = <Hit extends { readonly type: string }>(hits: readonly Hit[]): readonly Hit[] => {
  const kinds = [...Map.groupBy(hits, ({ type }) => type).values()]
  const taken = new Set<Hit>()
  for (let round = 0; taken.size < Math.min(HITS_MAX, hits.length); round += 1) {
    for (const kind of kinds) {
      const next = kind[round]
      if (next !== undefined && taken.size < HITS_MAX) taken.add(next)
    }
  }
  return hits.filter((hit) => taken.has(hit))
}

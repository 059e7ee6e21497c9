/** The queries of the screen of one request, which a link to it prefetches. */
import { generation, newestGenerations } from '../../api/generations.ts'
import { queryClient } from '../../api/query-client.ts'

/** A client knows its request by this id; the id of the record is another. */
export const isClientRequest = (id: string): boolean => id.startsWith('req-')

/** The newest record of the client's request. */
export const ofClientRequest = (id: string) => newestGenerations({ request_id: id }, 1)

export const readRequest = (id: string): Promise<void> =>
  isClientRequest(id) ? queryClient.prefetchQuery(ofClientRequest(id)) : queryClient.prefetchQuery(generation(id))

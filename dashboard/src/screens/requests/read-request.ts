/** The requests that the screen of one request asks, which a link to it asks beforehand. */
import { generation, newestGenerations } from '../../api/generations.ts'
import { queryClient } from '../../api/query-client.ts'

/** A client knows its request by this id; its record has another. */
export const isClientRequest = (id: string): boolean => id.startsWith('req-')

/** The newest record that was made for it. */
export const ofClientRequest = (id: string) => newestGenerations({ request_id: id }, 1)

export const readRequest = (id: string): Promise<void> =>
  isClientRequest(id) ? queryClient.prefetchQuery(ofClientRequest(id)) : queryClient.prefetchQuery(generation(id))

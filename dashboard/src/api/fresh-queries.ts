import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from '@tanstack/react-query'

/**
 * Queries that are read anew behind a change, also those that are being read for the first time: what is on its way may have been
 * read before the change, and the library would wait for that alone.
 */
export class FreshQueries extends QueryClient {
  override async invalidateQueries<Key extends QueryKey = QueryKey>(
    filters?: InvalidateQueryFilters<Key>,
    options?: InvalidateOptions,
  ): Promise<void> {
    if (filters !== undefined) {
      const { predicate = () => true } = filters
      await this.cancelQueries({
        ...filters,
        fetchStatus: 'fetching',
        predicate: (one) => one.state.data === undefined && predicate(one as never),
      })
    }
    return super.invalidateQueries(filters, options)
  }
}

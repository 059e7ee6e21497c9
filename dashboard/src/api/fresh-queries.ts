import { type InvalidateOptions, type InvalidateQueryFilters, QueryClient, type QueryKey } from '@tanstack/react-query'

/**
 * Refetches queries after a change, including those that are being fetched for the first time: a request in flight may have been answered
 * from before the change, and the library would only wait for that one.
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

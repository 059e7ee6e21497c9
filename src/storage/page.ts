export interface Page<Item> {
  readonly items: readonly Item[]
  readonly totalCount: number
}

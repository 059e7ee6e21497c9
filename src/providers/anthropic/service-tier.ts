/** Encodes service tiers by the two values of this dialect: `auto` uses the account's priority capacity, `standard_only` does not. */
interface Warnings {
  lose(field: string, message: string): void
  mapped(field: string, message: string): void
}

export const encodeServiceTier = (tier: string | undefined, field: string, { lose, mapped }: Warnings): string | undefined => {
  switch (tier) {
    case undefined:
    case 'auto':
    case 'standard_only':
      return tier
    case 'default':
    case 'standard':
    case 'on_demand':
      return 'standard_only'
    case 'priority':
    case 'fast':
    case 'ultrafast':
      mapped(field, `The nearest to the tier ${tier} is auto; it was sent.`)
      return 'auto'
    default:
      lose(field, `There is no tier like ${tier}; it was left out.`)
      return undefined
  }
}

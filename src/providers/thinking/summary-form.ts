/** The wish for a form of readable thinking, which only OpenAI's Responses has a word for. */
import type { ReasoningSetting } from '../../canonical/settings.ts'

/** `auto` is what every provider does. */
export const asksForForm = ({ summary }: ReasoningSetting): boolean => summary !== undefined && summary !== 'auto'

export const lostForm = (providerName: string, { summary = '' }: ReasoningSetting): string =>
  `${providerName} has no ${summary} form of its thinking; the form was left out.`

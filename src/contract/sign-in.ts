/** Facts of the sign-in that more than its operations need (docs/contract/sign-in.md). */
import { storedText } from './stored-text.ts'

/** The id of a person, as an identity provider or an admin writes it. */
export const userId = storedText.min(1).max(256)

/** The default lifetime of a sign-in link. */
export const LINK_SECONDS = 15 * 60

/** Why a provider key may not have both settings: said of a body, and of a change together with what is stored. */
export const EXCLUSIVE = { error: 'is_fallback cannot be combined with is_byok_only or is_required.' }

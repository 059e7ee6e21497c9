/** Sessions of people, and the links that open them. Made by 0011. */
export interface SignInTables {
  sessions: SessionsTable
  login_links: LoginLinksTable
  key_uses: KeyUsesTable
  oauth_codes: OauthCodesTable
}

export interface SessionsTable {
  id: string
  /** HMACs of the cookie's value and of the half that the page holds (docs/contract/sign-in.md#two-halves). */
  digest: string
  csrf_digest: string
  workspace_id: string
  user_id: string
  role: 'admin' | 'member'
  /** The management key that it was opened with; it ends with it. Null where a link or an identity provider opened it. */
  key_hash: string | null
  user_agent: string | null
  created_at: string
  last_used_at: string
  /** Moves on with each use, up to `ends_at`. */
  expires_at: string
  ends_at: string
}

/** A row is deleted when the link is used. */
export interface LoginLinksTable {
  id: string
  digest: string
  workspace_id: string
  user_id: string
  role: 'admin' | 'member'
  created_at: string
  expires_at: string
}

/** When each key was used last, as processes of versions before 0027 write it down. Nothing reads it. */
interface KeyUsesTable {
  key_hash: string
  last_used_at: string
}

/** Codes that applications exchange for a key of the person who allowed it. Made by 0018. */
export interface OauthCodesTable {
  id: string
  digest: string
  workspace_id: string
  user_id: string
  /** Null: the code was shown to the person. */
  callback_url: string | null
  code_challenge: string | null
  code_challenge_method: 'S256' | 'plain' | null
  /** The key that is to be made: JSON. */
  key_settings: string
  created_at: string
  expires_at: string
  /** When it was exchanged, and for which key. */
  used_at: string | null
  key_hash: string | null
}

/** Sessions of people, and the links that open them. Created by 0011. */
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
  /** The management key that opened the session; the session ends with the key. Null if a link or an identity provider opened it. */
  key_hash: string | null
  user_agent: string | null
  created_at: string
  last_used_at: string
  /** Extended with each use, up to `ends_at`. */
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

/** When each key was last used, as written by processes of versions before 0027. Nothing reads it. */
interface KeyUsesTable {
  key_hash: string
  last_used_at: string
}

/** Codes that applications exchange for a key of the person who allowed it. Created by 0018. */
export interface OauthCodesTable {
  id: string
  digest: string
  workspace_id: string
  user_id: string
  /** Null if the code was shown to the person. */
  callback_url: string | null
  code_challenge: string | null
  code_challenge_method: 'S256' | 'plain' | null
  /** The settings of the key to create: JSON. */
  key_settings: string
  created_at: string
  expires_at: string
  /** When the code was exchanged, and for which key. */
  used_at: string | null
  key_hash: string | null
}

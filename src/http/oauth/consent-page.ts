/**
 * The page on which a person allows an application a key. It works without the dashboard; everything
 * that it says about the application is escaped text.
 */
import type { z } from 'zod'

import type { consentQuery } from '../../contract/oauth.ts'
import type { IdSource } from '../../lib/id.ts'
import type { RequestedAccess } from '../../sign-in/application-codes.ts'
import { escapeInTag } from '../../reference/markup.ts'
import { plainPage } from '../response/plain-page.ts'

type Asked = Pick<RequestedAccess, 'callback_url' | 'key_label' | 'limit' | 'usage_limit_type' | 'expires_at'> & {
  readonly workspace_id?: z.output<typeof consentQuery.workspace_id>
}

/** The page runs one script of ours, and sends requests only to us. */
const POLICY = ["script-src 'self'", "connect-src 'self'", "form-action 'self'"]

export const consentPage = (asked: Asked, { prefix, ids }: { readonly prefix: string; readonly ids: IdSource }): Response => {
  const app = asked.callback_url === undefined || asked.callback_url === null ? null : new URL(asked.callback_url).host
  const rows = [
    ['Application', app ?? 'on this or another machine: the code is shown to you'],
    ['Name of the key', asked.key_label ?? app ?? 'application'],
    ['May spend', spends(asked)],
    ['Until', asked.expires_at ?? 'you revoke it'],
    ['Workspace', asked.workspace_id ?? 'the one that you are signed in to'],
  ] as const
  const body = `<main data-base="${escapeInTag(prefix)}">
<h1>${app === null ? 'An application' : escapeInTag(app)} asks for a key</h1>
<p>With it, the application calls models in your name, and you pay. It also reads, adds and deletes files of the workspace.</p>
<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeInTag(value)}</dd>`).join('')}</dl>
${app === null ? '' : `<p>The key is sent to <strong>${escapeInTag(app)}</strong>. Allow it only if you began this there.</p>`}
<p id="who" role="status">Looking who is signed in…</p>
<form id="sign-in" hidden>
<label for="key">Management key</label>
<input id="key" type="password" autocomplete="off" required>
<button>Sign in</button>
<p><a id="oidc" target="_blank" rel="noreferrer" hidden>Sign in with your identity provider</a></p>
<p>Or open a sign-in link in this browser, then reload this page.</p>
</form>
<div id="choice" hidden><button id="allow" type="button">Allow</button> <button id="deny" type="button">Deny</button></div>
<p id="result" role="alert"></p>
<noscript><p>This page needs JavaScript.</p></noscript>
</main>
<script src="${escapeInTag(prefix)}/auth/consent.js" defer></script>`
  return plainPage({ title: 'Allow an application', body, policy: POLICY }, ids)
}

const spends = ({ limit, usage_limit_type: interval }: Asked): string => {
  if (limit === undefined || limit === null) return 'as much as your budgets let it; for members $5 a month'
  return `$${limit}${interval === undefined || interval === null ? '' : ` ${interval}`}`
}

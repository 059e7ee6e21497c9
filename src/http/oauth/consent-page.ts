/**
 * The page on which a person allows an application a key. It works without the dashboard; everything
 * that it says about the application is escaped text.
 */
import type { z } from 'zod'

import type { consentQuery } from '../../contract/oauth.ts'
import type { RequestedAccess } from '../../sign-in/application-codes.ts'

type Asked = Pick<RequestedAccess, 'callback_url' | 'key_label' | 'limit' | 'usage_limit_type' | 'expires_at'> & {
  readonly workspace_id?: z.output<typeof consentQuery.workspace_id>
}

/** The page runs one script of ours, sends requests only to us, and cannot be framed. */
export const consentPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

export const consentPage = (asked: Asked, { prefix, nonce }: { readonly prefix: string; readonly nonce: string }): string => {
  const app = asked.callback_url === undefined || asked.callback_url === null ? null : new URL(asked.callback_url).host
  const rows = [
    ['Application', app ?? 'on this or another machine: the code is shown to you'],
    ['Name of the key', asked.key_label ?? app ?? 'application'],
    ['May spend', spends(asked)],
    ['Until', asked.expires_at ?? 'you revoke it'],
    ['Workspace', asked.workspace_id ?? 'the one that you are signed in to'],
  ] as const
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Allow an application · Patchbay</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main data-base="${escaped(prefix)}">
<h1>${app === null ? 'An application' : escaped(app)} asks for a key</h1>
<p>With it, the application calls models in your name, and you pay. It also reads, adds and deletes files of the workspace.</p>
<dl>${rows.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join('')}</dl>
${app === null ? '' : `<p>The key is sent to <strong>${escaped(app)}</strong>. Allow it only if you began this there.</p>`}
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
<script src="${escaped(prefix)}/auth/consent.js" defer></script>
</body>
</html>
`
}

const spends = ({ limit, usage_limit_type: interval }: Asked): string => {
  if (limit === undefined || limit === null) return 'as much as your budgets let it; for members $5 a month'
  return `$${limit}${interval === undefined || interval === null ? '' : ` ${interval}`}`
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => SIGNS[sign] ?? '')

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}
main{max-width:32rem;margin:8vh auto;padding:0 1rem}h1{font-size:1.3rem;overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dd{margin:0;overflow-wrap:anywhere}dt{opacity:.75}
button,input{font:inherit;padding:.4rem .9rem;min-height:2.25rem}input{display:block;width:100%;box-sizing:border-box;margin:.25rem 0 .5rem}`

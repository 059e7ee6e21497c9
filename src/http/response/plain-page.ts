/** Pages that people meet outside of the dashboard. They load nothing; whatever others wrote is put into them as escaped text. */
import type { GatewayError } from '../../errors.ts'
import type { IdSource } from '../../lib/id.ts'
import { escapeInTag } from '../../reference/markup.ts'
import { PAGE_HEADERS } from '../dashboard/policy.ts'

interface PlainPage {
  readonly title: string
  /** Markup. */
  readonly body: string
  /** Directives of a policy: they allow more than to show the page. */
  readonly policy?: readonly string[]
  readonly status?: number
}

export const plainPage = ({ title, body, policy = ["form-action 'none'"], status = 200 }: PlainPage, ids: IdSource): Response => {
  const nonce = Buffer.from(ids.bytes(16)).toString('base64url')
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeInTag(title)} · Patchbay</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
${body}
</body>
</html>
`
  const directives = [
    "default-src 'none'",
    `style-src 'nonce-${nonce}'`,
    'img-src data:',
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...policy,
  ]
  return new Response(page, { status, headers: { ...PAGE_HEADERS, 'content-security-policy': directives.join('; ') } })
}

/** Shows a person a failure where a program gets JSON. `next`: markup that says where to go on. */
export const failurePage =
  (title: string, next: string, ids: IdSource) =>
  (failure: GatewayError, requestId: string): Response =>
    plainPage(
      {
        title,
        status: failure.status,
        body: `<main>
<h1>${escapeInTag(title)}</h1>
<p role="alert">${escapeInTag(failure.publicMessage)}</p>
<p>${next}</p>
<p class="faint">The log of the service has this as request <code>${escapeInTag(requestId)}</code>.</p>
</main>`,
      },
      ids,
    )

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}
main{max-width:32rem;margin:8vh auto;padding:0 1rem;overflow-wrap:anywhere}h1{font-size:1.3rem}a{color:inherit}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.25rem 1rem}dd{margin:0}dt,.faint{opacity:.75}
button,input{font:inherit;padding:.4rem .9rem;min-height:2.25rem}input{display:block;width:100%;box-sizing:border-box;margin:.25rem 0 .5rem}`

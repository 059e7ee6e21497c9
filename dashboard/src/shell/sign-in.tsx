/**
 * Signs in with a link that was printed or sent, with a management key, which is exchanged for a session at once and not kept, or at the
 * identity provider, if the service has one.
 */
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'

import { sessionState } from '../api/session-half.ts'
import { keepPlace, signIn, signInMethods } from '../api/session.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { messageOf } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { dismissLink } from './login-link.ts'
import { Logo } from './logo.tsx'

export const SignInPage = ({ opening, fault }: { opening: boolean; fault: string | null }) => (
  <main className="sign-in">
    <Logo />
    <h1>Sign in to Patchbay</h1>
    {opening ? (
      <p className="soft">Opening your link…</p>
    ) : (
      <>
        <AtProvider />
        <SignInForm fault={fault} />
      </>
    )}
  </main>
)

/** Asks before a link ends the session of the person who is signed in. */
export const LinkQuestion = ({ signedIn, onAccept }: { signedIn: string; onAccept: () => Promise<void> }) => (
  <main className="sign-in">
    <Logo />
    <h1>Use this sign-in link?</h1>
    <p>You are signed in as {signedIn}. The link signs this browser in as the person for whom it was made, and ends your session here.</p>
    <p className="soft">If you did not ask for it, stay signed in: what you enter would be seen by whoever sent it.</p>
    <div className="row">
      <Button kind="primary" onClick={dismissLink} autoFocus>
        Stay signed in
      </Button>
      <Button onClick={onAccept}>Use the link</Button>
    </div>
  </main>
)

const AtProvider = () => {
  const oidc = useQuery(signInMethods).data?.oidc ?? null
  return oidc === null ? null : (
    <a className="button primary" href={oidc.url} onClick={keepPlace}>
      Sign in with {new URL(oidc.issuer).host}
    </a>
  )
}

/** Keeps this tab as it is; it continues once somebody has signed in in another tab. */
const InAnotherTab = () => {
  const oidc = useQuery(signInMethods).data?.oidc ?? null
  return oidc === null ? null : (
    <p className="stack">
      <a className="button primary" href={oidc.url} target="_blank" rel="noreferrer">
        Sign in with {new URL(oidc.issuer).host}
      </a>
      <span className="faint small">It opens in another tab. Come back to this one afterwards.</span>
    </p>
  )
}

/** Shown over the page, so that a draft below it is kept. */
export const SignInDialog = () => (
  <Dialog title="Sign in again" onClose={() => sessionState.set('none')}>
    <p className="soft">Your session has ended. What you wrote is still here.</p>
    <InAnotherTab />
    <SignInForm fault={null} />
  </Dialog>
)

const SignInForm = ({ fault }: { fault: string | null }) => {
  const [message, setMessage] = useState(fault)
  const [busy, setBusy] = useState(false)
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const proof = new FormData(event.currentTarget).get('proof')
    const pasted = typeof proof === 'string' ? proof.trim() : ''
    const token = /#login=([\w.~-]+)/.exec(pasted)?.[1]
    setBusy(true)
    setMessage(null)
    signIn(token === undefined ? { key: pasted } : { token })
      .catch((thrown: unknown) => setMessage(messageOf(thrown)))
      .finally(() => setBusy(false))
  }
  return (
    <form className="stack" onSubmit={submit}>
      <Field label="Management key or sign-in link" fault={message}>
        <input name="proof" type="password" autoComplete="off" spellCheck={false} required autoFocus placeholder="pb_mgmt_…" />
      </Field>
      <Button kind="primary" type="submit" busy={busy}>
        Sign in
      </Button>
      <p className="faint small">
        The key is exchanged for a session and is not kept in this browser. On the machine of the service, <code>npx patchbay login</code>{' '}
        prints a link.
      </p>
    </form>
  )
}

/**
 * The code that the consent page runs in the browser. It reads the second half of the session from where the dashboard stores
 * it, so that whoever is signed in there is signed in here.
 */
export const CONSENT_SCRIPT = `'use strict'
const main = document.querySelector('main')
const base = main.dataset.base
const wish = new URLSearchParams(location.search)
const HALF = 'patchbay.csrf'
const part = (id) => document.getElementById(id)
const say = (text) => { part('result').textContent = text }
const ask = async (method, path, body) => {
  const half = localStorage.getItem(HALF)
  const headers = { ...(half === null ? {} : { 'x-patchbay-csrf': half }), ...(body === undefined ? {} : { 'content-type': 'application/json' }) }
  const response = await fetch(base + '/api/v1' + path, { method, headers, credentials: 'same-origin', ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const json = await response.json()
  if (!response.ok) throw new Error(json.error?.metadata?.reason ?? json.error?.message ?? 'The request failed.')
  return json
}
const show = async () => {
  try {
    const { data } = await ask('GET', '/sessions/current')
    part('who').textContent = 'Signed in as ' + data.user_id + ' in the workspace ' + data.workspace.name + '.'
    part('sign-in').hidden = true
    part('choice').hidden = false
  } catch {
    part('who').textContent = 'Sign in to go on.'
    part('sign-in').hidden = false
    part('choice').hidden = true
    await offerProvider()
  }
}
const offerProvider = async () => {
  const { data } = await ask('GET', '/sessions/methods')
  if (data.oidc === null) return
  part('oidc').href = data.oidc.url
  part('oidc').hidden = false
}
const leave = (name, value) => {
  const target = new URL(wish.get('callback_url'))
  target.searchParams.append(name, value)
  if (wish.has('state')) target.searchParams.append('state', wish.get('state'))
  location.assign(target)
}
part('sign-in').addEventListener('submit', async (event) => {
  event.preventDefault()
  say('')
  try {
    const { csrf } = await ask('POST', '/sessions', { key: part('key').value.trim() })
    localStorage.setItem(HALF, csrf)
    part('key').value = ''
    await show()
  } catch (failure) {
    say(failure.message)
  }
})
part('allow').addEventListener('click', async () => {
  say('')
  const body = {}
  for (const name of ['callback_url', 'code_challenge', 'code_challenge_method', 'key_label', 'usage_limit_type', 'expires_at', 'workspace_id']) {
    if (wish.get(name)) body[name] = wish.get(name)
  }
  if (wish.get('limit')) body.limit = Number(wish.get('limit'))
  try {
    const { data } = await ask('POST', '/auth/keys/code', body)
    part('choice').hidden = true
    if (wish.get('callback_url')) leave('code', data.id)
    else say('Give this code to the application, within ten minutes: ' + data.id)
  } catch (failure) {
    say(failure.message)
    await show()
  }
})
part('deny').addEventListener('click', () => {
  if (wish.get('callback_url')) leave('error', 'access_denied')
  else { part('choice').hidden = true; say('Denied. You can close this page.') }
})
// A person who signed in in another tab comes back to this one.
addEventListener('focus', () => { if (!part('sign-in').hidden) void show() })
void show()
`

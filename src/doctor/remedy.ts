/** Says what an operator can do about a provider that cannot be reached. */

const NO_AUTHORITY =
  'No authority that this machine trusts has signed its certificate: name the file of the authority that did in NODE_EXTRA_CA_CERTS, and start again.'

/** By the code of the failure, the first that fits. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^CERT_HAS_EXPIRED$/, 'Its certificate has expired, or the clock of this machine is wrong.'],
  [/^CERT_NOT_YET_VALID$/, 'Its certificate is not valid yet, or the clock of this machine is wrong.'],
  [/ALTNAME/, 'Its certificate is for another name: correct the base_url.'],
  [/SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/, NO_AUTHORITY],
  [/^EPROTO$/, 'It does not speak TLS there: correct the port of the base_url, or write http://.'],
  [/^ECONNRESET$/, 'It closed the connection: check the port of the base_url, and whether http:// or https:// is right.'],
  [/^ENOTFOUND$/, 'No such host is known: correct the base_url, or the DNS of this machine.'],
  [/^(?:EAI_|EDNS)/, 'The DNS of this machine does not answer.'],
  [/^(?:ECONNREFUSED|ConnectionRefused)$/, 'Nothing listens there: start it, or correct the base_url.'],
  [/^ERR_PROXY_TUNNEL$/, 'The proxy does not connect to it.'],
  [
    /^E(?:HOST|NET)(?:UNREACH|DOWN)$/,
    'No way leads there from this machine: check its network, and whether a proxy is needed (HTTPS_PROXY).',
  ],
  [/^no answer within/, 'It hangs, or a firewall is in the way: check whether a proxy is needed (HTTPS_PROXY).'],
]

/** `fault`: an error code, or a message where there is none. Empty if nothing is known about it. */
export const remedyFor = (fault: string, { proxied }: { readonly proxied: boolean }): string => {
  const known = REMEDIES.find(([pattern]) => pattern.test(fault))?.[1]
  // The runtime reports a failure of the proxy as one of the provider.
  const proxy = proxied
    ? 'A proxy is set for it (HTTPS_PROXY, HTTP_PROXY or ALL_PROXY), so look at that proxy too; NO_PROXY lists hosts that are asked directly.'
    : ''
  return [known ?? '', proxy].filter((sentence) => sentence !== '').join(' ')
}

/** Recognises names of hosts that exist only in a private network. */

/** True for a name of one label, and for one below a domain that the public DNS does not have. */
export const isPrivateName = (hostname: string): boolean => {
  const name = hostname.toLowerCase().replace(/\.+$/, '')
  return !name.includes('.') || BELOW.test(name)
}

/**
 * The special-use domains of IANA's registry that lead to hosts of one's own (localhost, local, home.arpa), the one that ICANN reserved for
 * private networks (internal), those of RFC 6762, appendix G, and those that hosts and clusters add.
 */
export const PRIVATE_DOMAINS = String.raw`localhost|local|arpa|internal|intranet|private|corp|home|lan|localdomain|svc`

const BELOW = new RegExp(String.raw`\.(?:${PRIVATE_DOMAINS})$`)

/** The port of an http or https address, which leaves out the usual one of its scheme. */
export const portOf = ({ port, protocol }: URL): number => (port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))

/** The `streamQuery` of a connection: all our queries are bounded, so none is streamed. */
export const refuseStreams = (): never => {
  throw new Error('Streaming queries are not used: every query of ours is bounded.')
}

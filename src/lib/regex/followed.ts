/** The work of all patterns in this process, so that whoever reads a long text in pieces can make the next piece as short as it must be. */
let followed = 0

/** How many steps were followed so far to work out moves: what a text costs beyond one look-up for each unit. */
export const followedSteps = (): number => followed

/** Counts the work of a move that was worked out. */
export const countFollowed = (steps: number): void => {
  followed += steps
}

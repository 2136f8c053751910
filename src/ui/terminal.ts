/** How much colour a user asked for by flag; `undefined` when nothing was said. */
export type ColorChoice = 'auto' | 'always' | 'never' | undefined

export type Env = Readonly<Record<string, string | undefined>>

/**
 * Whether to write colours to a stream. A flag beats NO_COLOR, NO_COLOR beats FORCE_COLOR, and without any of
 * them a terminal that is not dumb gets colours.
 */
export function wantsColor(choice: ColorChoice, env: Env, isTerminal: boolean): boolean {
  if (choice === 'always') return true
  if (choice === 'never') return false
  if (env.NO_COLOR) return false
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false'
  return isTerminal && env.TERM !== 'dumb'
}

/** Whether lines may be rewritten in place (progress, dashboards): not on a dumb terminal, and not in CI logs. */
export function wantsAnimation(env: Env, isTerminal: boolean): boolean {
  return isTerminal && env.TERM !== 'dumb' && !isCi(env)
}

/** CI services often give a terminal to nobody: nothing is asked there. */
export function isCi(env: Env): boolean {
  return env.CI !== undefined && env.CI !== '' && env.CI !== '0' && env.CI !== 'false'
}

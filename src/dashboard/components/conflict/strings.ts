/** What a person reads whose change met another one. */
export const conflictStrings = {
  title: 'This was changed by someone else',
  hint: 'Somebody, or another window, saved it after you opened it. What you typed is still here.',
  keepMine: 'Keep what I typed',
  takeTheirs: 'Take what was saved',
} as const

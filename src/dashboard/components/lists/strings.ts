/** The keys of lists, in the help dialog. */
export const listStrings = {
  group: 'Lists',
  next: 'Next row',
  previous: 'Previous row',
} as const

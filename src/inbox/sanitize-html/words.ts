/** The words of a list that spaces separate. */
export function words(list: string): string[] {
  return list.split(' ')
}

/** The folder of one backup, relative to the folder of all backups. */
export const backupFolder = (id: string) => `backups/${id}`
export const manifestName = (id: string) => `${backupFolder(id)}/manifest.json`

/** The folder of the segments that all backups share. */
export const segmentsFolder = 'segments'

/** Without the suffixes of compression and encryption. */
export const segmentName = (id: string, number: number) => `${segmentsFolder}/${id}-${zeroPadded(number)}.segment`

export function isSegmentName(name: string): boolean {
  return /^\d{8}T\d{9}Z-[0-9a-z]{6}-\d{6,}\.segment\.zst/.test(name)
}

/** Pads with zeros, so that names sort by their numbers. */
export function zeroPadded(count: number): string {
  return String(count).padStart(6, '0')
}

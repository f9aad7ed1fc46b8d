import { crc32 } from 'node:zlib'

/** A ZIP archive with one file in it, not compressed. */
function zipOf(name: string, content: Buffer): Buffer {
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(10, 0)
  facts.writeUInt32LE(crc32(content), 10)
  facts.writeUInt32LE(content.length, 14)
  facts.writeUInt32LE(content.length, 18)
  facts.writeUInt16LE(name.length, 22)
  const file = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), content])
  const entry = Buffer.concat([
    Buffer.from('PK\x01\x02\x0a\x00', 'latin1'),
    facts,
    // No comment, disk 0, no attributes, at offset 0.
    Buffer.alloc(14),
    Buffer.from(name),
  ])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(entry.length, 8)
  end.writeUInt32LE(file.length, 12)
  return Buffer.concat([file, entry, Buffer.from('PK\x05\x06'), end])
}

/** A ZIP archive in a ZIP archive, so many of them, with `content` in the innermost. */
export function nestedZip(depth: number, content: Buffer): Buffer {
  let archive = zipOf('a.txt', content)
  for (let level = 1; level < depth; level++) archive = zipOf('a.zip', archive)
  return archive
}

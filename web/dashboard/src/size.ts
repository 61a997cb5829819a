// The size of an element as it is now, for drawings that fill it.

import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** The element must be there from the first render on. */
export function useSize(): [RefObject<HTMLDivElement | null>, number, number] {
  const host = useRef<HTMLDivElement>(null);
  const [[width, height], setSize] = useState([0, 0]);
  useEffect(() => {
    const watcher = new ResizeObserver(([entry]) => { if (entry) setSize([entry.contentRect.width, entry.contentRect.height]); });
    if (host.current) watcher.observe(host.current);
    return () => watcher.disconnect();
  }, []);
  return [host, width, height];
}

// From the world to the picture and back; all lanes share one camera, so that they show the same place.

const MOST = 4000; // zoom

export class Camera {
  bounds = [0, 0, 100, 100];
  zoom = 1;
  x = 50;
  y = 50;

  /** Show a whole scene. */
  fit(bounds = this.bounds) {
    this.bounds = bounds;
    this.zoom = 1;
    this.x = (bounds[0] + bounds[2]) / 2;
    this.y = (bounds[1] + bounds[3]) / 2;
  }

  /** Show a part of the scene, with as much around it. */
  show([left, top, right, bottom]) {
    const [wide, high] = [this.bounds[2] - this.bounds[0], this.bounds[3] - this.bounds[1]];
    const share = Math.max((right - left) / Math.max(wide, 1e-12), (bottom - top) / Math.max(high, 1e-12));
    this.zoom = Math.min(Math.max(0.4 / share, 1), MOST);
    this.x = (left + right) / 2;
    this.y = (top + bottom) / 2;
  }

  scale(width, height) {
    const wide = Math.max(this.bounds[2] - this.bounds[0], 1e-12);
    const high = Math.max(this.bounds[3] - this.bounds[1], 1e-12);
    return this.zoom * Math.min((width - 12) / wide, (height - 12) / high);
  }

  toScreen(x, y, width, height) {
    const scale = this.scale(width, height);
    return [(x - this.x) * scale + width / 2, (y - this.y) * scale + height / 2];
  }

  toWorld(x, y, width, height) {
    const scale = this.scale(width, height);
    return [(x - width / 2) / scale + this.x, (y - height / 2) / scale + this.y];
  }

  /** Zoom so that the point under the pointer stays there. */
  zoomAt(factor, x, y, width, height) {
    const before = this.toWorld(x, y, width, height);
    this.zoom = Math.min(Math.max(this.zoom * factor, 0.2), MOST);
    const after = this.toWorld(x, y, width, height);
    this.x += before[0] - after[0];
    this.y += before[1] - after[1];
  }

  pan(dx, dy, width, height) {
    const scale = this.scale(width, height);
    this.x -= dx / scale;
    this.y -= dy / scale;
  }
}

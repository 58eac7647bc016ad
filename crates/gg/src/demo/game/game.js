'use strict';
// Slingshot: a ship circles a world; one button lets go of it. Fly straight, get caught by the ring
// of another world, and be gone before your own burns out. Until the first press the game plays
// itself behind the title.

const el = (id) => document.getElementById(id);
const canvas = el('sky');
const ctx = canvas.getContext('2d');
const scoreText = el('score');
const bestText = el('best');
const comboText = el('combo');
const panel = el('panel');
const titleText = el('title');
const hintText = el('hint');
const soundButton = el('sound');

const TAU = Math.PI * 2;
const HUES = [192, 262, 334, 28, 152, 218, 48];
const STORE = 'slingshot.best';

const rand = (low, high) => low + Math.random() * (high - low);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));

// ---- The world ------------------------------------------------------------------------------

let mode = 'title'; // title, playing, over
let worlds, ship, camera, dust, rings, score, best, streak, shake, clock, overAt;

try { best = Number(localStorage.getItem(STORE)) || 0; } catch { best = 0; }

// The n-th world after `before`: they shrink and stand farther apart as the run goes on.
function makeWorld(before, n) {
  const hard = clamp(n / 30, 0, 1);
  const radius = rand(26, 40) - 10 * hard;
  const ring = radius + rand(50, 62) - 14 * hard;
  const world = { n, radius, ring, hue: HUES[n % HUES.length], spin: rand(0, TAU), used: false };
  world.fuse = world.life = 9 - 4.5 * hard;
  if (!before) return Object.assign(world, { x: 0, y: 0, gems: [] });

  const gap = before.ring + ring + rand(90, 150) + 60 * hard;
  let lean = rand(-0.95, 0.95);
  if (Math.abs(before.x + Math.sin(lean) * gap) > 260) lean = -lean;
  world.x = before.x + Math.sin(lean) * gap;
  world.y = before.y - Math.cos(lean) * gap;

  world.gems = [];
  if (n > 1 && Math.random() < 0.6) {
    for (let i = 1; i <= 3; i++) {
      const t = 0.5 + (i - 2) * 0.09;
      world.gems.push({
        x: before.x + (world.x - before.x) * t + Math.cos(lean) * before.ring * 0.7,
        y: before.y + (world.y - before.y) * t + Math.sin(lean) * before.ring * 0.7,
        taken: false,
      });
    }
  }
  if (n > 5 && Math.random() < 0.25 + 0.3 * hard) {
    world.moon = { at: rand(0, TAU), orbit: ring + 26, speed: rand(0.9, 1.5), radius: 9 };
  }
  return world;
}

function addWorlds() {
  while (worlds.length < 5 || worlds[worlds.length - 1].n < ship.world.n + 4) {
    const last = worlds[worlds.length - 1];
    worlds.push(makeWorld(last, last ? last.n + 1 : 0));
  }
  worlds = worlds.filter((w) => w.n >= ship.world.n - 2);
}

function reset() {
  const first = makeWorld(null, 0);
  worlds = [first];
  ship = { world: first, angle: Math.PI, turn: 1, laps: 0, x: 0, y: 0, vx: 0, vy: 0, trail: [] };
  dust = [];
  rings = [];
  score = streak = shake = clock = 0;
  camera = { x: 0, y: -80, zoom: 1 };
  addWorlds();
  scoreText.textContent = '0';
  bestText.textContent = best;
}

const speedNow = () => 430 + 130 * clamp(ship.world.n / 30, 0, 1);

// ---- One button -----------------------------------------------------------------------------

function press() {
  wakeSound();
  if (mode === 'title' || (mode === 'over' && clock - overAt > 0.5)) {
    reset();
    mode = 'playing';
    panel.classList.add('away');
    tone(330, 0.12, 'sine', 660);
  } else if (mode === 'playing') {
    letGo();
  }
}

function letGo() {
  if (ship.flying) return;
  const speed = speedNow();
  ship.flying = true;
  ship.vx = -Math.sin(ship.angle) * ship.turn * speed;
  ship.vy = Math.cos(ship.angle) * ship.turn * speed;
  ship.air = 0;
  burst(ship.x, ship.y, ship.world.hue, 10, 110);
  if (mode === 'playing') tone(240, 0.18, 'triangle', 520);
}

function caughtBy(world) {
  const skipped = Math.max(0, world.n - ship.world.n - 1);
  const swift = ship.laps < 1;
  const dx = ship.x - world.x;
  const dy = ship.y - world.y;
  ship.turn = dx * ship.vy - dy * ship.vx > 0 ? 1 : -1;
  ship.angle = Math.atan2(dy, dx);
  ship.flying = false;
  ship.laps = 0;
  const forward = world.n > ship.world.n;
  ship.world = world;
  world.fuse = world.life;
  rings.push({ x: world.x, y: world.y, from: world.ring, age: 0, hue: world.hue });
  burst(ship.x, ship.y, world.hue, 18, 170);
  shake = Math.min(shake + 4, 9);
  if (!forward || world.used) return;

  world.used = true;
  streak = swift ? Math.min(streak + 1, 9) : 0;
  const gained = 1 + skipped * 3 + Math.floor(streak / 3);
  gain(gained);
  if (skipped) shout(`skipped ${skipped}  +${gained}`);
  else if (streak && streak % 3 === 0) shout(`swift ×${streak / 3 + 1}`);
  if (mode === 'playing') tone(392 * 2 ** (streak / 12), 0.25, 'sine', 588 * 2 ** (streak / 12));
  addWorlds();
}

function gain(points) {
  score += points;
  if (mode !== 'playing') return;
  scoreText.textContent = score;
  if (score > best) {
    best = score;
    bestText.textContent = best;
    try { localStorage.setItem(STORE, best); } catch { /* a private window keeps no best score */ }
  }
}

function lose(why) {
  burst(ship.x, ship.y, 20, 60, 320);
  burst(ship.x, ship.y, 48, 30, 160);
  shake = 22;
  if (mode === 'title') { reset(); return; }
  mode = 'over';
  overAt = clock;
  ship.gone = true;
  tone(180, 0.7, 'sawtooth', 38);
  titleText.textContent = score;
  hintText.textContent = score && score === best ? `${why} That is your best flight.` : why;
  panel.classList.remove('away');
}

// ---- One step -------------------------------------------------------------------------------

function step(dt) {
  clock += dt;
  for (const w of worlds) {
    w.spin += dt * 0.3;
    if (w.moon) w.moon.at += w.moon.speed * dt;
  }
  if (!ship.gone) ship.flying ? fly(dt) : circle(dt);
  follow(dt);

  for (const p of dust) {
    p.x += p.vx * dt;
    p.y += p.vy * dt;
    p.vx *= 1 - 1.6 * dt;
    p.vy *= 1 - 1.6 * dt;
    p.age += dt;
  }
  dust = dust.filter((p) => p.age < p.life);
  for (const r of rings) r.age += dt;
  rings = rings.filter((r) => r.age < 0.7);
  shake = Math.max(0, shake - 34 * dt);
}

function circle(dt) {
  const w = ship.world;
  const swing = (speedNow() * 0.62) / w.ring;
  ship.angle += ship.turn * swing * dt;
  ship.laps += (swing * dt) / TAU;
  place(w.x + Math.cos(ship.angle) * w.ring, w.y + Math.sin(ship.angle) * w.ring);
  if (w.n > 0 || score > 0) w.fuse -= dt;
  if (w.fuse <= 0) {
    rings.push({ x: w.x, y: w.y, from: w.ring, age: 0, hue: 12 });
    lose('Your world burned out.');
  } else if (mode === 'title' && wouldArrive()) {
    letGo();
  }
}

function fly(dt) {
  place(ship.x + ship.vx * dt, ship.y + ship.vy * dt);
  ship.air += dt;
  for (const w of worlds) {
    for (const g of w.gems) {
      if (!g.taken && Math.hypot(ship.x - g.x, ship.y - g.y) < 22) {
        g.taken = true;
        gain(1);
        burst(g.x, g.y, 48, 12, 130);
        if (mode === 'playing') tone(988, 0.09, 'square', 1318);
      }
    }
    if (w.moon) {
      const m = moonPlace(w);
      if (Math.hypot(ship.x - m.x, ship.y - m.y) < w.moon.radius + 6) return lose('You met a moon.');
    }
    if (w !== ship.world && Math.hypot(ship.x - w.x, ship.y - w.y) <= w.ring) return caughtBy(w);
  }
  if (ship.air > 1.7) lose('Lost in the dark.');
}

// Whether letting go now leads into a later world and past every moon: the title's pilot.
function wouldArrive() {
  const vx = -Math.sin(ship.angle) * ship.turn;
  const vy = Math.cos(ship.angle) * ship.turn;
  return worlds.some((w) => {
    if (w.n <= ship.world.n || w.n > ship.world.n + 2 || w.moon) return false;
    const along = (w.x - ship.x) * vx + (w.y - ship.y) * vy;
    const aside = Math.abs((w.x - ship.x) * vy - (w.y - ship.y) * vx);
    return along > 0 && along < 560 && aside < w.ring * 0.75;
  });
}

function place(x, y) {
  ship.x = x;
  ship.y = y;
  ship.trail.push({ x, y });
  if (ship.trail.length > 46) ship.trail.shift();
}

function moonPlace(w) {
  const { at, orbit } = w.moon;
  return { x: w.x + Math.cos(at) * orbit, y: w.y + Math.sin(at) * orbit };
}

function follow(dt) {
  const next = worlds.find((w) => w.n === ship.world.n + 1) || ship.world;
  const ease = 1 - Math.exp(-3.2 * dt);
  camera.x += ((ship.world.x + next.x) / 2 - camera.x) * ease;
  camera.y += ((ship.world.y + next.y) / 2 - 40 - camera.y) * ease;
}

function burst(x, y, hue, count, force) {
  for (let i = 0; i < count; i++) {
    const way = rand(0, TAU);
    const push = rand(0.15, 1) * force;
    dust.push({
      x, y, hue, age: 0, life: rand(0.35, 0.95), size: rand(1, 3.2),
      vx: Math.cos(way) * push, vy: Math.sin(way) * push,
    });
  }
}

function shout(text) {
  if (mode !== 'playing') return;
  comboText.textContent = text;
  comboText.classList.remove('pop');
  void comboText.offsetWidth; // restarts the animation
  comboText.classList.add('pop');
}

// ---- What is seen ---------------------------------------------------------------------------

const stars = Array.from({ length: 160 }, () => ({
  x: Math.random(), y: Math.random(), far: rand(0.04, 0.4), size: rand(0.5, 1.7), beat: rand(0, TAU),
}));
let width = 0;
let height = 0;

function resize() {
  const dense = Math.min(window.devicePixelRatio || 1, 2);
  width = window.innerWidth;
  height = window.innerHeight;
  canvas.width = width * dense;
  canvas.height = height * dense;
  ctx.setTransform(dense, 0, 0, dense, 0, 0);
}

function draw() {
  const night = ctx.createLinearGradient(0, 0, 0, height);
  night.addColorStop(0, '#0b0f2b');
  night.addColorStop(0.6, '#0a0c22');
  night.addColorStop(1, '#160d2c');
  ctx.fillStyle = night;
  ctx.fillRect(0, 0, width, height);
  drawStars();

  const zoom = clamp(Math.min(width / 620, height / 860), 0.45, 1.25);
  ctx.save();
  ctx.translate(width / 2 + rand(-shake, shake) * 0.5, height / 2 + rand(-shake, shake) * 0.5);
  ctx.scale(zoom, zoom);
  ctx.translate(-camera.x, -camera.y);
  for (const w of worlds) drawWorld(w);
  for (const r of rings) {
    ctx.strokeStyle = `hsla(${r.hue} 95% 72% / ${1 - r.age / 0.7})`;
    ctx.lineWidth = 3;
    disc(r.x, r.y, r.from + r.age * 130);
    ctx.stroke();
  }
  drawTrail();
  if (!ship.gone) drawShip();
  ctx.globalCompositeOperation = 'lighter';
  for (const p of dust) {
    ctx.fillStyle = `hsla(${p.hue} 95% 68% / ${1 - p.age / p.life})`;
    disc(p.x, p.y, p.size);
    ctx.fill();
  }
  ctx.restore();
}

function disc(x, y, radius) {
  ctx.beginPath();
  ctx.arc(x, y, radius, 0, TAU);
}

function drawStars() {
  for (const s of stars) {
    const x = (((s.x * width - camera.x * s.far) % width) + width) % width;
    const y = (((s.y * height - camera.y * s.far) % height) + height) % height;
    ctx.fillStyle = `rgba(214, 222, 255, ${0.35 + 0.3 * Math.sin(clock * 1.7 + s.beat)})`;
    disc(x, y, s.size);
    ctx.fill();
  }
}

function drawWorld(w) {
  const here = w === ship.world && !ship.gone;
  const spent = w.n < ship.world.n;
  ctx.globalAlpha = spent ? 0.35 : 1;

  const glow = ctx.createRadialGradient(w.x, w.y, w.radius * 0.5, w.x, w.y, w.ring * 1.35);
  glow.addColorStop(0, `hsla(${w.hue} 90% 60% / .34)`);
  glow.addColorStop(1, `hsla(${w.hue} 90% 60% / 0)`);
  ctx.fillStyle = glow;
  disc(w.x, w.y, w.ring * 1.35);
  ctx.fill();

  ctx.strokeStyle = `hsla(${w.hue} 80% 75% / .35)`;
  ctx.lineWidth = 1.5;
  ctx.setLineDash([3, 9]);
  disc(w.x, w.y, w.ring);
  ctx.stroke();
  ctx.setLineDash([]);
  if (here) drawFuse(w);

  const ball = ctx.createRadialGradient(
    w.x - w.radius * 0.4, w.y - w.radius * 0.5, w.radius * 0.1, w.x, w.y, w.radius);
  ball.addColorStop(0, `hsl(${w.hue} 95% 82%)`);
  ball.addColorStop(0.55, `hsl(${w.hue} 78% 56%)`);
  ball.addColorStop(1, `hsl(${w.hue + 28} 70% 26%)`);
  ctx.fillStyle = ball;
  disc(w.x, w.y, w.radius);
  ctx.fill();
  drawBands(w);

  for (const g of w.gems) if (!g.taken) drawGem(g);
  if (w.moon) {
    const m = moonPlace(w);
    ctx.fillStyle = '#c9cde0';
    disc(m.x, m.y, w.moon.radius);
    ctx.fill();
    ctx.fillStyle = '#9aa0bd';
    disc(m.x + 2.5, m.y + 2, w.moon.radius * 0.35);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

function drawBands(w) {
  ctx.save();
  disc(w.x, w.y, w.radius);
  ctx.clip();
  ctx.translate(w.x, w.y);
  ctx.rotate(w.spin * 0.4 + w.n);
  ctx.fillStyle = `hsla(${w.hue + 40} 80% 88% / .16)`;
  ctx.fillRect(-w.radius, -w.radius * 0.35, w.radius * 2, w.radius * 0.22);
  ctx.fillRect(-w.radius, w.radius * 0.15, w.radius * 2, w.radius * 0.34);
  ctx.restore();
}

// The arc that burns down while the ship stays.
function drawFuse(w) {
  const left = clamp(w.fuse / w.life, 0, 1);
  ctx.strokeStyle = left < 0.3 ? `hsl(8 95% ${62 + 14 * Math.sin(clock * 18)}%)` : `hsl(${w.hue} 90% 74%)`;
  ctx.lineWidth = 3.5;
  ctx.lineCap = 'round';
  ctx.beginPath();
  ctx.arc(w.x, w.y, w.ring, -Math.PI / 2, -Math.PI / 2 + TAU * left);
  ctx.stroke();
}

function drawGem(g) {
  const size = 7 + Math.sin(clock * 4 + g.x) * 1.3;
  ctx.fillStyle = '#ffd166';
  ctx.beginPath();
  ctx.moveTo(g.x, g.y - size);
  ctx.lineTo(g.x + size * 0.7, g.y);
  ctx.lineTo(g.x, g.y + size);
  ctx.lineTo(g.x - size * 0.7, g.y);
  ctx.fill();
}

function drawTrail() {
  ctx.lineCap = 'round';
  for (let i = 1; i < ship.trail.length; i++) {
    const t = i / ship.trail.length;
    ctx.strokeStyle = `hsla(${190 + 80 * (1 - t)} 95% 75% / ${t * 0.8})`;
    ctx.lineWidth = 1 + 5 * t;
    ctx.beginPath();
    ctx.moveTo(ship.trail[i - 1].x, ship.trail[i - 1].y);
    ctx.lineTo(ship.trail[i].x, ship.trail[i].y);
    ctx.stroke();
  }
}

function drawShip() {
  const way = ship.flying
    ? Math.atan2(ship.vy, ship.vx)
    : ship.angle + (ship.turn * Math.PI) / 2;
  // The first hops show where letting go would lead.
  if (!ship.flying && ship.world.n < 3) {
    ctx.strokeStyle = 'rgba(238, 242, 255, .3)';
    ctx.lineWidth = 2;
    ctx.setLineDash([2, 10]);
    ctx.beginPath();
    ctx.moveTo(ship.x, ship.y);
    ctx.lineTo(ship.x + Math.cos(way) * 210, ship.y + Math.sin(way) * 210);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  ctx.save();
  ctx.translate(ship.x, ship.y);
  ctx.rotate(way);
  ctx.fillStyle = '#ffffff';
  ctx.shadowColor = '#7de2ff';
  ctx.shadowBlur = 18;
  ctx.beginPath();
  ctx.moveTo(13, 0);
  ctx.lineTo(-8, 7.5);
  ctx.lineTo(-4, 0);
  ctx.lineTo(-8, -7.5);
  ctx.closePath();
  ctx.fill();
  ctx.restore();
}

// ---- What is heard --------------------------------------------------------------------------

let audio = null;
let muted = false;

function wakeSound() {
  const Audio = window.AudioContext || window.webkitAudioContext;
  if (!audio && Audio) audio = new Audio();
  if (audio && audio.state === 'suspended') audio.resume();
}

function tone(pitch, seconds, shape, glideTo) {
  if (!audio || muted) return;
  const now = audio.currentTime;
  const voice = audio.createOscillator();
  const volume = audio.createGain();
  voice.type = shape;
  voice.frequency.setValueAtTime(pitch, now);
  voice.frequency.exponentialRampToValueAtTime(glideTo, now + seconds);
  volume.gain.setValueAtTime(shape === 'sine' || shape === 'triangle' ? 0.16 : 0.06, now);
  volume.gain.exponentialRampToValueAtTime(0.0001, now + seconds);
  voice.connect(volume).connect(audio.destination);
  voice.start(now);
  voice.stop(now + seconds);
}

// ---- Off we go ------------------------------------------------------------------------------

window.addEventListener('resize', resize);
window.addEventListener('keydown', (event) => {
  if (!['Space', 'Enter', 'ArrowUp'].includes(event.code)) return;
  if (event.target === soundButton && event.code !== 'ArrowUp') return;
  event.preventDefault();
  if (!event.repeat) press();
});
canvas.addEventListener('pointerdown', (event) => {
  event.preventDefault();
  press();
});
soundButton.addEventListener('click', () => {
  muted = !muted;
  soundButton.textContent = muted ? 'sound off' : 'sound on';
  soundButton.blur();
});

let before = 0;
function frame(now) {
  // A tab that slept must not wake up to a ship that flew on without it.
  step(Math.min((now - before) / 1000, 0.033));
  before = now;
  draw();
  requestAnimationFrame(frame);
}

resize();
reset();
requestAnimationFrame((now) => { before = now; frame(now); });

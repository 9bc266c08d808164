"""Pictures for the demo: each shows its number in black and white squares, which are still there in the smallest size.

It needs Pillow (python3-pil).
"""
import functools
import io

from PIL import Image, ImageDraw

BITS, COLUMNS = 24, 6
SHAPES = ((1280, 960), (960, 1280), (1280, 720))  # pixels


@functools.lru_cache(maxsize=len(SHAPES))
def background(shape):
    """A gradient with noise, as hard to compress as a photograph."""
    noise = Image.effect_noise(shape, 25)
    gradient = Image.linear_gradient("L").resize(shape)
    return Image.merge("RGB", (noise, gradient, Image.blend(noise, gradient, 0.6)))


def shape_of(number):
    return SHAPES[number % len(SHAPES)]


def squares(size):
    """The place of each bit: the middle third of a picture of this size."""
    width, height = size
    side_x, side_y = width / 3 / COLUMNS, height / 3 / (BITS // COLUMNS)
    for bit in range(BITS):
        x, y = width / 3 + bit % COLUMNS * side_x, height / 3 + bit // COLUMNS * side_y
        yield x, y, x + side_x, y + side_y


def draw(number):
    """A JPEG file."""
    image = background(shape_of(number)).copy()
    pen = ImageDraw.Draw(image)
    for bit, place in enumerate(squares(image.size)):
        pen.rectangle(place, fill="white" if number >> bit & 1 else "black")
    file = io.BytesIO()
    image.save(file, "JPEG", quality=85)
    return file.getvalue()


def read(file):
    """(the number that a picture shows, its size). `file`: as for Image.open."""
    with Image.open(file) as image:
        grey = image.convert("L")
        number = 0
        for bit, (left, top, right, bottom) in enumerate(squares(grey.size)):
            number |= (grey.getpixel((int((left + right) / 2), int((top + bottom) / 2))) > 127) << bit
        return number, image.size

"""FFCV. It reads files of its own: the pictures are encoded again as JPEG of quality 95, so their bytes differ from the
source's. Its resize is OpenCV's INTER_AREA. {"workload": "pictures", "scratch": FOLDER}"""
import time; BEGAN = time.perf_counter()
import os, sys, warnings
warnings.filterwarnings('ignore')
import numpy as np
import torch, torchvision
from ffcv.fields import IntField, RGBImageField
from ffcv.fields.decoders import IntDecoder, RandomResizedCropRGBImageDecoder
from ffcv.loader import Loader, OrderOption
from ffcv.transforms import NormalizeImage, RandomHorizontalFlip, Squeeze, ToTensor, ToTorchImage
from ffcv.writer import DatasetWriter
import side

torch.set_num_threads(1)


def pictures(setup):
    mean, std = np.array(side.MEAN) * 255, np.array(side.STD) * 255
    loaders = {}

    def beton(root):
        path = os.path.join(setup['scratch'], os.path.basename(root) + '.beton')
        if not os.path.exists(path):
            fields = {'image': RGBImageField(write_mode='jpg', jpeg_quality=95), 'label': IntField()}
            DatasetWriter(path + '.part', fields, num_workers=2).from_indexed_dataset(torchvision.datasets.ImageFolder(root))
            os.rename(path + '.part', path)
        return path

    def make(root, batch, workers):
        image = [RandomResizedCropRGBImageDecoder((224, 224)), RandomHorizontalFlip(), NormalizeImage(mean, std, np.float32),
                 ToTensor(), ToTorchImage()]
        return Loader(beton(root), batch_size=batch, num_workers=workers, order=OrderOption.RANDOM, os_cache=True,
                      drop_last=False, pipelines={'image': image, 'label': [IntDecoder(), ToTensor(), Squeeze()]})

    def epoch(c):
        key = c['root'], c['batch'], c['workers']
        if key not in loaders:
            loaders[key] = make(*key)
        return loaders[key]
    return side.pictures(epoch)


if __name__ == '__main__':
    import cv2
    side.serve(BEGAN, 'FFCV 0.0.3 (Debian), OpenCV %s, torch %s' % (cv2.__version__, torch.__version__), dict(pictures=pictures))
